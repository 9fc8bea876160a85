/* An MCP server that costs next to nothing: one tool, `echo`, which answers a fixed text.
 *
 *   echo_server [--era legacy|modern] [--payload BYTES]
 *
 * It exists so that a benchmark measures the client. It reads one frame per line and knows just
 * enough JSON to find the top-level "id" and "method" of a request, wherever they stand.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int modern = 0;
static char *payload = "ok";

struct span { const char *at; size_t size; };

static const char *skip_string(const char *at) {
    for (at++; *at && *at != '"'; at++)
        if (*at == '\\' && at[1]) at++;
    return *at ? at + 1 : at;
}

/* The end of the JSON value that begins at `at`. */
static const char *skip_value(const char *at) {
    int depth = 0;
    if (*at == '"') return skip_string(at);
    for (; *at; ) {
        if (*at == '"') { at = skip_string(at); continue; }
        if (*at == '{' || *at == '[') depth++;
        if (*at == '}' || *at == ']') { if (depth == 0) return at; depth--; }
        if (*at == ',' && depth == 0) return at;
        at++;
        if (depth == 0 && (at[-1] == '}' || at[-1] == ']')) return at;
    }
    return at;
}

static void look(const char *frame, struct span *id, struct span *method) {
    const char *at = strchr(frame, '{');
    id->size = method->size = 0;
    if (!at) return;
    for (at++; *at && *at != '}'; ) {
        const char *key, *end;
        while (*at == ' ' || *at == ',') at++;
        if (*at != '"') return;
        key = at + 1;
        end = skip_string(at);
        at = end;
        while (*at == ' ' || *at == ':') at++;
        const char *value = at;
        at = skip_value(at);
        size_t length = (size_t)(end - key - 1);
        if (length == 2 && !strncmp(key, "id", 2))
            *id = (struct span){value, (size_t)(at - value)};
        if (length == 6 && !strncmp(key, "method", 6))
            *method = (struct span){value + 1, (size_t)(at - value) - 2};
    }
}

static int is(struct span method, const char *name) {
    return method.size == strlen(name) && !strncmp(method.at, name, method.size);
}

#define TOOL "{\"name\":\"echo\",\"description\":\"Answers a fixed text.\",\"inputSchema\":{\"type\":" \
    "\"object\",\"properties\":{\"text\":{\"type\":\"string\"}},\"required\":[\"text\"]}," \
    "\"annotations\":{\"readOnlyHint\":true}}"
#define INFO "{\"name\":\"echo\",\"version\":\"1\"}"
/* What the modern era has in every result that may be kept. */
#define KEEP "\"resultType\":\"complete\",\"cacheScope\":\"private\",\"ttlMs\":3600000,"

static void answer(struct span id, struct span method) {
    const char *done = modern ? "\"resultType\":\"complete\"," : "";
    if (!id.size) return;
    printf("{\"jsonrpc\":\"2.0\",\"id\":%.*s,", (int)id.size, id.at);
    if (is(method, "tools/call"))
        printf("\"result\":{%s\"content\":[{\"type\":\"text\",\"text\":\"%s\"}],\"isError\":false}}\n",
               done, payload);
    else if (is(method, "tools/list"))
        printf("\"result\":{%s\"tools\":[" TOOL "]}}\n", modern ? KEEP : "");
    else if (is(method, "server/discover") && modern)
        printf("\"result\":{" KEEP "\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{\"tools\":{}},"
               "\"serverInfo\":" INFO ",\"_meta\":{\"io.modelcontextprotocol/serverInfo\":" INFO "}}}\n");
    else if (is(method, "initialize") && !modern)
        printf("\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}},"
               "\"serverInfo\":" INFO "}}\n");
    else if (is(method, "ping"))
        printf("\"result\":{}}\n");
    else
        printf("\"error\":{\"code\":-32601,\"message\":\"Method not found\"}}\n");
}

int main(int argc, char **argv) {
    char *line = NULL;
    size_t room = 0;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--era")) modern = !strcmp(argv[i + 1], "modern");
        if (!strcmp(argv[i], "--payload")) {
            size_t size = (size_t)strtoul(argv[i + 1], NULL, 10);
            payload = malloc(size + 1);
            if (!payload) return 1;
            memset(payload, 'x', size);
            payload[size] = 0;
        }
    }
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    static char in[1 << 16];
    size_t have = 0;
    ssize_t got;
    while ((got = read(0, in, sizeof in)) > 0) {
        if (have + (size_t)got + 1 > room) {
            room = (have + (size_t)got + 1) * 2;
            line = realloc(line, room);
            if (!line) return 1;
        }
        memcpy(line + have, in, (size_t)got);
        have += (size_t)got;
        char *start = line, *end;
        while ((end = memchr(start, '\n', have - (size_t)(start - line)))) {
            struct span id, method;
            *end = 0;
            look(start, &id, &method);
            answer(id, method);
            fflush(stdout); /* each answer is written by itself, as servers do */
            start = end + 1;
        }
        have -= (size_t)(start - line);
        memmove(line, start, have);
    }
    return 0;
}

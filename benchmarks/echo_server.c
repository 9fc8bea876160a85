/* An MCP server that costs next to nothing: one tool, `echo`, which answers a fixed text.
 *
 *   echo_server [--era legacy|modern] [--payload BYTES] [--sleep MILLISECONDS]
 *               [--http json|events|sse]
 *
 * It exists so that a benchmark measures the client. It reads one frame per line, or one per
 * request over HTTP, and knows just enough JSON to find the top-level "id" and "method" of a
 * request, wherever they stand. It sleeps before it reads anything.
 *
 * Over HTTP it listens on a loopback port, which it prints, until its input ends. A tool's answer
 * is a body or a stream of events; with `sse`, GET /sse gives one stream for all answers, as in
 * 2024. There are no sessions, and nothing is said unasked. GET /connections tells how many there
 * have been, those that ask this left out.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
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

/* Write the answer to a request, without an end of line. */
static void answer(FILE *out, struct span id, struct span method) {
    const char *done = modern ? "\"resultType\":\"complete\"," : "";
    fprintf(out, "{\"jsonrpc\":\"2.0\",\"id\":%.*s,", (int)id.size, id.at);
    if (is(method, "tools/call"))
        fprintf(out, "\"result\":{%s\"content\":[{\"type\":\"text\",\"text\":\"%s\"}],\"isError\":false}}",
               done, payload);
    else if (is(method, "tools/list"))
        fprintf(out, "\"result\":{%s\"tools\":[" TOOL "]}}", modern ? KEEP : "");
    else if (is(method, "server/discover") && modern)
        fprintf(out, "\"result\":{" KEEP "\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{\"tools\":{}},"
               "\"serverInfo\":" INFO ",\"_meta\":{\"io.modelcontextprotocol/serverInfo\":" INFO "}}}");
    else if (is(method, "initialize") && !modern)
        fprintf(out, "\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}},"
               "\"serverInfo\":" INFO "}}");
    else if (is(method, "ping"))
        fprintf(out, "\"result\":{}}");
    else
        fprintf(out, "\"error\":{\"code\":-32601,\"message\":\"Method not found\"}}");
}

/* ------------------------------------------------------------------ over HTTP */

static int events = 0, sse = 0;
static atomic_long connections = 0;

/* The end of the head of a request, or NULL while it is not there. */
static char *head_end(char *in) {
    char *end = strstr(in, "\r\n\r\n");
    return end ? end + 4 : NULL;
}

static size_t body_size(const char *head) {
    for (const char *line = head; (line = strstr(line, "\r\n")); ) {
        line += 2;
        if (!strncasecmp(line, "content-length:", 15)) return (size_t)strtoul(line + 15, NULL, 10);
    }
    return 0;
}

static void reply(FILE *out, const char *status, const char *type, const char *body, size_t size) {
    fprintf(out, "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n\r\n", status, type, size);
    fwrite(body, 1, size, out);
}

/* The streams of the older transport, by the number in the address that each names. */
static FILE *streams[4096];
static pthread_mutex_t streaming = PTHREAD_MUTEX_INITIALIZER;

static void event(FILE *out, const char *kind, const char *data, size_t size) {
    fprintf(out, "event: %s\r\ndata: ", kind);
    fwrite(data, 1, size, out);
    fputs("\r\n\r\n", out);
}

/* Begin a stream, and hold it until the client is gone. */
static void stream(FILE *out) {
    int number = fileno(out);
    char address[32], rest[256];
    int length = snprintf(address, sizeof address, "/sse?%d", number);
    if (number >= (int)(sizeof streams / sizeof *streams)) exit(1);
    fputs("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n", out);
    event(out, "endpoint", address, (size_t)length);
    fflush(out);
    pthread_mutex_lock(&streaming);
    streams[number] = out;
    pthread_mutex_unlock(&streaming);
    while (read(number, rest, sizeof rest) > 0) {}
    pthread_mutex_lock(&streaming);
    streams[number] = NULL;
    pthread_mutex_unlock(&streaming);
}

static void say_on(int number, const char *data, size_t size) {
    pthread_mutex_lock(&streaming);
    if (number > 0 && number < (int)(sizeof streams / sizeof *streams) && streams[number]) {
        event(streams[number], "message", data, size);
        fflush(streams[number]);
    }
    pthread_mutex_unlock(&streaming);
}

static void reply_to(FILE *out, const char *head, char *body) {
    struct span id, method;
    char *made = NULL;
    size_t size = 0;
    if (sse && !strncmp(head, "GET /sse ", 9)) {
        stream(out);
        return;
    }
    if (!strncmp(head, "GET /connections ", 17)) {
        char text[32];
        int length = snprintf(text, sizeof text, "%ld", atomic_fetch_sub(&connections, 1) - 1);
        reply(out, "200 OK", "text/plain", text, (size_t)length);
        return;
    }
    if (strncmp(head, "POST ", 5)) {
        reply(out, "405 Method Not Allowed", "text/plain", "", 0);
        return;
    }
    look(body, &id, &method);
    if (!id.size) {
        reply(out, "202 Accepted", "text/plain", "", 0);
        return;
    }
    FILE *answered = open_memstream(&made, &size);
    if (!answered) exit(1);
    answer(answered, id, method);
    fclose(answered);
    if (sse) {
        int number = 0;
        sscanf(head, "POST /sse?%d", &number);
        reply(out, "202 Accepted", "text/plain", "", 0);
        fflush(out);
        say_on(number, made, size);
    } else if (events && is(method, "tools/call")) {
        /* One event, and the end of the stream. */
        fprintf(out, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
                     "%zx\r\nevent: message\r\ndata: ", size + 26);
        fwrite(made, 1, size, out);
        fputs("\r\n\r\n\r\n0\r\n\r\n", out);
    } else {
        reply(out, "200 OK", "application/json", made, size);
    }
    free(made);
}

static void *serve(void *given) {
    int socket = (int)(long)given;
    FILE *out = fdopen(socket, "w");
    size_t room = 1 << 16, have = 0;
    char *in = malloc(room + 1);
    if (!out || !in) exit(1);
    setvbuf(out, NULL, _IOFBF, 1 << 16);
    for (;;) {
        in[have] = 0;
        char *body = head_end(in);
        size_t whole = body ? (size_t)(body - in) + body_size(in) : 0;
        if (body && have >= whole) {
            char kept = in[whole];
            in[whole] = 0;
            reply_to(out, in, body);
            in[whole] = kept;
            if (fflush(out)) break;
            have -= whole;
            memmove(in, in + whole, have);
            continue;
        }
        if (have == room || whole > room) {
            room = (whole > room ? whole : room) * 2;
            in = realloc(in, room + 1);
            if (!in) exit(1);
        }
        ssize_t got = read(socket, in + have, room - have);
        if (got <= 0) break;
        have += (size_t)got;
    }
    fclose(out);
    free(in);
    return NULL;
}

static void *listen_on(void *given) {
    int listener = (int)(long)given, yes = 1;
    for (;;) {
        int socket = accept(listener, NULL, NULL);
        pthread_t thread;
        if (socket < 0) continue;
        atomic_fetch_add(&connections, 1);
        setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        if (pthread_create(&thread, NULL, serve, (void *)(long)socket)) exit(1);
        pthread_detach(thread);
    }
    return NULL;
}

static int serve_http(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    pthread_t thread;
    char rest[256];
    signal(SIGPIPE, SIG_IGN);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) || listen(listener, 512) ||
        getsockname(listener, (struct sockaddr *)&address, &size) ||
        pthread_create(&thread, NULL, listen_on, (void *)(long)listener))
        return 1;
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    while (read(0, rest, sizeof rest) > 0) {}
    return 0;
}

/* ------------------------------------------------------------------ over its pipes */

int main(int argc, char **argv) {
    char *line = NULL;
    size_t room = 0;
    int http = 0;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--era")) modern = !strcmp(argv[i + 1], "modern");
        if (!strcmp(argv[i], "--payload")) {
            size_t size = (size_t)strtoul(argv[i + 1], NULL, 10);
            payload = malloc(size + 1);
            if (!payload) return 1;
            memset(payload, 'x', size);
            payload[size] = 0;
        }
        if (!strcmp(argv[i], "--sleep")) usleep((useconds_t)strtoul(argv[i + 1], NULL, 10) * 1000);
        if (!strcmp(argv[i], "--http")) {
            http = 1;
            events = !strcmp(argv[i + 1], "events");
            sse = !strcmp(argv[i + 1], "sse");
        }
    }
    if (http) return serve_http();
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
            if (id.size) {
                answer(stdout, id, method);
                putchar('\n');
            }
            fflush(stdout); /* each answer is written by itself, as servers do */
            start = end + 1;
        }
        have -= (size_t)(start - line);
        memmove(line, start, have);
    }
    return 0;
}

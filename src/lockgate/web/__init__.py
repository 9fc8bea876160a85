"""The one road to the web: a guarded HTTP client. A stranger to `process`; knows no tools."""

package lectus.server;

import java.time.Duration;
import lectus.document.DocumentLimits;
import lectus.http.HttpSettings;

/**
 * What an administrator decides about one server.
 *
 * @param port 0: any free one
 * @param readers threads that read the store
 * @param bodyMemoryBytes what the bodies of all running requests may hold, in bytes of JSON
 * @param stopGrace how long an orderly stop waits for running requests
 */
public record NodeSettings(
    String host,
    int port,
    HttpSettings http,
    DocumentLimits documents,
    WriteSettings writes,
    int readers,
    long bodyMemoryBytes,
    Duration stopGrace) {}

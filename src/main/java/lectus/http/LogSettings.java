package lectus.http;

import lectus.metrics.LogFormat;

/**
 * What is logged of requests.
 *
 * @param access whether each request has a line
 * @param format of that line
 * @param slowMillis from when on a request is slow, which has another line; 0: none
 */
public record LogSettings(boolean access, LogFormat format, int slowMillis) {}

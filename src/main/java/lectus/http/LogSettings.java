package lectus.http;

import lectus.log.LogFormat;

/**
 * What is logged of requests.
 *
 * @param access whether each request has a line
 * @param format of that line
 */
public record LogSettings(boolean access, LogFormat format) {}

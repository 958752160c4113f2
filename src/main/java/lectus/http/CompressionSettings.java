package lectus.http;

/**
 * The administrator's settings of compressed answers.
 *
 * @param level of gzip, from 1, the fastest, to 9, the densest
 * @param maxStreams how many answers of several parts, live feeds among them, may be compressed at
 *     a time
 */
public record CompressionSettings(boolean enabled, int level, int maxStreams) {}

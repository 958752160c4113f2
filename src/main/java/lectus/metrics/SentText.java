package lectus.metrics;

/**
 * The value of a field as a client sent it, one char for each byte.
 *
 * @param text a path, for example
 */
public record SentText(String text) {}

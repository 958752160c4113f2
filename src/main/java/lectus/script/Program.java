package lectus.script;

/**
 * The functions of one design document.
 *
 * @param key equal keys mean equal JSON
 * @param json the body of the design document, as UTF-8
 */
public record Program(String key, byte[] json) {}

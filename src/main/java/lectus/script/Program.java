package lectus.script;

/**
 * The functions of one design document.
 *
 * @param key equal keys mean equal JSON
 * @param name what the log calls it: database and id
 * @param json the body of the design document, as UTF-8
 */
public record Program(String key, String name, byte[] json) {}

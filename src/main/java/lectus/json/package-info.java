/**
 * JSON between the wire and the store: request bodies are exploded into leaf key-values and
 * assembled again, without a tree in between (RFC 004).
 *
 * <p>From bytes to leaves, {@link lectus.json.JsonInput} reads and {@link lectus.json.JsonExploder}
 * makes an {@link lectus.json.ExplodedBody}. From leaves to bytes, {@link
 * lectus.json.JsonAssembler} writes to a {@link lectus.json.JsonBuffer}. Small request bodies that
 * are not documents are read as {@link lectus.json.JsonValue}.
 *
 * <p>Leaves are stored in the tuple layer's encoding, written and read without boxed lists. Also
 * the errors of stored bytes: damage, or a newer format.
 */
package lectus.json;

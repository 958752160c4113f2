/**
 * JSON between the wire and the store: request bodies are exploded into leaf key-values and put
 * together again without a tree in between (RFC 004).
 *
 * <p>Bytes to leaves: {@link lectus.json.JsonInput} reads, {@link lectus.json.JsonExploder} makes
 * an {@link lectus.json.ExplodedBody}. Leaves to bytes: {@link lectus.json.JsonAssembler} writes
 * into a {@link lectus.json.JsonBuffer}. Small request bodies that are no documents are read as
 * {@link lectus.json.JsonValue}.
 */
package lectus.json;

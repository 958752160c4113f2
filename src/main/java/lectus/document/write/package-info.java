/**
 * The write path (<a
 * href="https://github.com/apache/couchdb/blob/main/src/docs/rfcs/001-fdb-revision-metadata-model.md">RFC
 * 001</a>): {@link lectus.document.write.DocumentWriter} cuts edits into transactions, plans each
 * document as a whole, and writes it. Also the rules for design documents, purges, and the removal
 * of old tombstones.
 */
package lectus.document.write;

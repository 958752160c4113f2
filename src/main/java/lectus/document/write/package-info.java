/**
 * The write path (RFC 001): {@link lectus.document.write.DocumentWriter} takes edits and says what
 * became of each. A request's edits are cut into batches, one transaction each; of a batch every
 * document is planned whole by the planner that its edit needs before anything is written. It knows
 * neither request bodies nor answers. The rules that apply to design documents alone; their
 * functions are not run. Purges: what a request wants to be purged, what was purged lately, and the
 * removal of old tombstones. What a purge writes is not known here.
 */
package lectus.document.write;

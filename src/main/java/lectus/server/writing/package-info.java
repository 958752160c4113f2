/**
 * The write pool: the queues of edits, the choice of an executor for each edit, and the executors
 * that turn waiting edits into transactions, with several commits under way at once. What an edit
 * writes belongs to {@link lectus.document.write}.
 */
package lectus.server.writing;

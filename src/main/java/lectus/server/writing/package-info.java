/**
 * The write pool: the queues of edits, the choice of an executor for each edit, and the executors
 * that turn waiting edits into transactions, with several commits under way at once. {@link
 * lectus.document.write} plans and writes the edits.
 */
package lectus.server.writing;

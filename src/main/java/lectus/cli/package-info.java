/**
 * The commands and their exit statuses, and the start and orderly stop of a server process. {@code
 * lectus sample} loads its database over HTTP, as any client would.
 */
package lectus.cli;

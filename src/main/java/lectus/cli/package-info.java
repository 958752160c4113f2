/**
 * The commands, their exit statuses, and the start and orderly stop of a server in a process. What
 * a server is made of belongs to {@link lectus.server}, and what a key of the configuration means
 * to {@link lectus.config}. A sample database for newcomers, loaded over HTTP like any client
 * would. Must not know the server or the store.
 */
package lectus.cli;

/**
 * The entry point: the command line, the configuration, and the start and orderly stop of one
 * server. What a server is made of is put together in {@link lectus.server}.
 */
package lectus;

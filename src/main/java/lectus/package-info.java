/**
 * The entry point. {@link lectus.Lectus} runs a command of {@link lectus.cli} and exits with its
 * status.
 */
package lectus;

/**
 * The entry point. {@link lectus.Lectus} hands the command line to a command of {@link lectus.cli}
 * and gives its exit status. Nothing else belongs here.
 */
package lectus;

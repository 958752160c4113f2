package lectus;

import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import lectus.error.StoreOpenException;
import lectus.server.StartException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParameterException;

/**
 * The command line. {@code lectus serve} runs a server; what keeps it from starting is said in one
 * sentence, with exit status 1.
 */
@Command(
    name = "lectus",
    description = "A document database with CouchDB's HTTP API.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    synopsisSubcommandLabel = "COMMAND")
public final class Lectus {
  private static final int FAILED = 1;

  private Lectus() {}

  public static void main(String[] args) {
    PrintWriter out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
    PrintWriter err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
    System.exit(run(args, System.getenv(), new Console(out, err)));
  }

  /** Runs one command line and gives its exit status. */
  static int run(String[] args, Map<String, String> environment, Console console) {
    CommandLine commands = new CommandLine(new Lectus());
    commands.addSubcommand(new ServeCommand(environment, console));
    commands.addSubcommand(new SampleCommand(isTerminal()));
    commands.addSubcommand(new CheckCommand(environment, console));
    commands.setOut(console.out()).setErr(console.err());
    commands.setParameterExceptionHandler((e, unused) -> misunderstood(e, console));
    commands.setExecutionExceptionHandler((e, command, parsed) -> failed(e, console));
    if (args.length == 0) {
      commands.usage(console.out());
      return FAILED;
    }
    return commands.execute(args);
  }

  /** Later versions of Java have a console that is no terminal unless told otherwise. */
  private static boolean isTerminal() {
    System.setProperty("jdk.console", "java.base");
    return System.console() != null;
  }

  private static int misunderstood(ParameterException mistake, Console console) {
    console.complain(mistake.getMessage() + " (--help lists what there is)");
    boolean isCheck = mistake.getCommandLine().getCommand() instanceof CheckCommand;
    return isCheck ? CheckCommand.NOT_CHECKED : FAILED;
  }

  private static int failed(Exception failure, Console console) throws Exception {
    boolean expected =
        failure instanceof ConfigurationException
            || failure instanceof StoreOpenException
            || failure instanceof StartException;
    if (!expected) {
      throw failure;
    }
    console.complain(failure.getMessage());
    return FAILED;
  }
}

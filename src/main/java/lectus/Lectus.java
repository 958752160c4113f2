package lectus;

import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import lectus.cli.AdminCommand;
import lectus.cli.ArchiveCommand;
import lectus.cli.BackupCommand;
import lectus.cli.CheckCommand;
import lectus.cli.CompareCommand;
import lectus.cli.ConfigCommand;
import lectus.cli.Console;
import lectus.cli.HealthCommand;
import lectus.cli.ImportCommand;
import lectus.cli.PasswordPrompt;
import lectus.cli.ProcessText;
import lectus.cli.RelocateCommand;
import lectus.cli.RestoreCommand;
import lectus.cli.SampleCommand;
import lectus.cli.ServeCommand;
import lectus.cli.ServeCommand.VersionLine;
import lectus.cli.SettingsCommand;
import lectus.cli.VerifyCommand;
import lectus.config.Configuration.NearName;
import lectus.config.ConfigurationException;
import lectus.error.StartException;
import lectus.error.StoreOpenException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * The command line. {@code lectus serve} runs a server; if it cannot start, one sentence says why,
 * and the exit status whether another try may help.
 */
@Command(
    name = "lectus",
    description = "A document database with CouchDB's HTTP API.",
    mixinStandardHelpOptions = true,
    versionProvider = VersionLine.class,
    synopsisSubcommandLabel = "COMMAND")
public final class Lectus {
  private static final int FAILED = 1;

  private Lectus() {}

  public static void main(String[] args) {
    PrintWriter out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
    PrintWriter err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
    // Before any class of TLS is loaded: a client may not make the server shake hands without end.
    System.setProperty("jdk.tls.rejectClientInitiatedRenegotiation", "true");
    System.exit(run(args, new Console(out, err, isTerminal())));
  }

  private static int run(String[] args, Console console) {
    try {
      ProcessText own = ProcessText.of(args);
      return run(own.arguments().toArray(String[]::new), own.environment(), console);
    } catch (ConfigurationException unreadable) {
      List<String> words = List.of(args);
      if (words.contains("serve")) {
        ServeCommand.speak(console, System.getenv());
      }
      console.complain(unreadable.getMessage());
      return words.contains("check")
          ? CheckCommand.NOT_CHECKED
          : words.contains("serve") ? ServeCommand.REFUSED : FAILED;
    }
  }

  /** Runs one command line and returns its exit status. */
  public static int run(String[] args, Map<String, String> environment, Console console) {
    return run(args, environment, console, PasswordPrompt.ofProcess(console.isTerminal()));
  }

  /** As above, with passwords from elsewhere. */
  static int run(
      String[] args, Map<String, String> environment, Console console, PasswordPrompt prompt) {
    Map<String, Supplier<CommandLine>> known = new LinkedHashMap<>();
    known.put("serve", () -> new ServeCommand(environment, console).commandLine());
    known.put("health", () -> new HealthCommand(environment, console).commandLine());
    known.put("sample", () -> sample(console.isTerminal()));
    known.put("check", () -> new CheckCommand(environment, console).commandLine());
    PasswordPrompt existing = PasswordPrompt.ofExisting(console.isTerminal());
    known.put("import", () -> new CommandLine(new ImportCommand(environment, console, existing)));
    known.put("compare", () -> new CommandLine(new CompareCommand(environment, console, existing)));
    known.put("backup", () -> new CommandLine(new BackupCommand(environment, console, existing)));
    known.put("verify", () -> new CommandLine(new VerifyCommand(console)));
    known.put("restore", () -> new CommandLine(new RestoreCommand(environment, console, existing)));
    known.put(
        "relocate", () -> new CommandLine(new RelocateCommand(environment, console, existing)));
    known.put("admin", () -> new AdminCommand(environment, console, prompt).commandLine());
    known.put("settings", () -> new SettingsCommand(environment, console).commandLine());
    known.put("archive", () -> new CommandLine(new ArchiveCommand(console)));
    known.put("config", () -> new CommandLine(new ConfigCommand(console)));
    // Reading annotations takes a start's time, so a command that is named is read alone.
    boolean isNamed = args.length > 0 && known.containsKey(args[0]);
    CommandLine commands =
        isNamed
            ? known.get(args[0]).get().setCommandName("lectus " + args[0])
            : new CommandLine(new Lectus());
    if (!isNamed) {
      known.forEach((name, command) -> commands.addSubcommand(name, command.get()));
    }
    commands.setOut(console.out()).setErr(console.err());
    commands.setParameterExceptionHandler((e, unused) -> misunderstood(e, console));
    commands.setExecutionExceptionHandler((e, command, parsed) -> failed(e, command, console));
    if (args.length == 0) {
      commands.usage(console.out());
      return FAILED;
    }
    return commands.execute(isNamed ? Arrays.copyOfRange(args, 1, args.length) : args);
  }

  /** Later versions of Java return a console even without a terminal. */
  private static boolean isTerminal() {
    System.setProperty("jdk.console", "java.base");
    return System.console() != null;
  }

  private static CommandLine sample(boolean isTerminal) {
    return new CommandLine(new SampleCommand(isTerminal, PasswordPrompt.ofExisting(isTerminal)));
  }

  private static int misunderstood(ParameterException mistake, Console console) {
    console.complain(mistake.getMessage() + meant(mistake) + " (--help lists what there is)");
    return failed(mistake.getCommandLine(), true);
  }

  /** Returns the option or the command that comes near to the unknown one, if any does. */
  private static String meant(ParameterException mistake) {
    if (!(mistake instanceof UnmatchedArgumentException unmatched)) {
      return "";
    }
    CommandSpec command = mistake.getCommandLine().getCommandSpec();
    String given = unmatched.getUnmatched().get(0).replaceFirst("=.*", "");
    Set<String> known =
        given.startsWith("-") ? command.optionsMap().keySet() : command.subcommands().keySet();
    return NearName.of(given, known).map(it -> "; did you mean " + it + "?").orElse("");
  }

  /**
   * @param isLasting whether another try would end in the same way
   */
  private static int failed(CommandLine command, boolean isLasting) {
    if (command.getCommand() instanceof ServeCommand && isLasting) {
      return ServeCommand.REFUSED;
    }
    return command.getCommand() instanceof CheckCommand
            || command.getCommand() instanceof CompareCommand
        ? CheckCommand.NOT_CHECKED
        : FAILED;
  }

  private static int failed(Exception failure, CommandLine command, Console console)
      throws Exception {
    if (failure instanceof InvalidPathException path) {
      console.complain(
          "The path \""
              + path.getInput()
              + "\" cannot be used: "
              + path.getReason()
              + ". The locale decides which characters a path has; LC_ALL=C.UTF-8 has all.");
      return failed(command, true);
    }
    boolean expected =
        failure instanceof ConfigurationException
            || failure instanceof StoreOpenException
            || failure instanceof StartException;
    if (!expected) {
      throw failure;
    }
    console.complain(failure.getMessage());
    boolean isLasting =
        failure instanceof ConfigurationException
            || (failure instanceof StoreOpenException store && store.isLasting())
            || (failure instanceof StartException start && start.isLasting());
    return failed(command, isLasting);
  }
}

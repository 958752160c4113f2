package lectus.cli;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import lectus.account.Admins;
import lectus.account.AdminsSubspace.Admin;
import lectus.config.AccountKeys;
import lectus.config.Configuration;
import lectus.config.ConfigurationException;
import lectus.config.ConfiguredStore;
import lectus.error.LectusException;
import lectus.error.StoreOpenException;
import lectus.store.Store;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lectus admin}: lists, makes and deletes the admins of a store. */
@Command(
    name = "admin",
    description = {
      "Makes an admin or changes its password, which is asked for, or read from standard input.",
      "Without a name, lists the admins.",
      "The server of an embedded store has to be stopped; a cluster may be running."
    },
    mixinStandardHelpOptions = true)
public final class AdminCommand implements Callable<Integer> {
  private static final int FAILED = 1;

  private final Console console;
  private final PasswordPrompt prompt;

  private final ConfigurationFlags flags;

  @Parameters(arity = "0..1", paramLabel = "NAME", description = "The admin's name.")
  private String name;

  @Option(names = "--delete", description = "Deletes the admin.")
  private boolean delete;

  public AdminCommand(Map<String, String> environment, Console console, PasswordPrompt prompt) {
    this.flags = new ConfigurationFlags(environment);
    this.console = console;
    this.prompt = prompt;
  }

  public CommandLine commandLine() {
    return flags.of(this);
  }

  @Override
  public Integer call() {
    Configuration configuration = flags.configuration();
    if (delete && name == null) {
      console.complain("--delete needs the name of the admin.");
      return FAILED;
    }
    try {
      return run(configuration);
    } catch (StoreOpenException held) {
      throw held.isHeld() ? new ConfigurationException(held.getMessage() + elsewhere()) : held;
    } catch (LectusException unusable) {
      console.complain(unusable.error().reason());
      return FAILED;
    }
  }

  private int run(Configuration configuration) {
    if (name == null) {
      return withAdmins(configuration, this::list);
    }
    return delete
        ? withAdmins(configuration, this::delete)
        : withAdmins(configuration, admins -> make(admins, configuration));
  }

  private interface Work {
    int with(Admins admins);
  }

  private static int withAdmins(Configuration configuration, Work work) {
    try (Store store = ConfiguredStore.open(configuration)) {
      return work.with(new Admins(store));
    }
  }

  private int list(Admins admins) {
    admins.all().stream().map(Admin::name).forEach(console::say);
    return 0;
  }

  private int make(Admins admins, Configuration configuration) {
    Optional<String> password = prompt.ask(name);
    if (password.isEmpty()) {
      console.complain("There was no password, or it was not repeated as it was.");
      return FAILED;
    }
    String hash = Admins.hashOf(password.get(), configuration.get(AccountKeys.HASH_ITERATIONS));
    boolean isNew = admins.put(name, hash).isEmpty();
    console.say(isNew ? name + " is an admin now." : name + " has a new password now.");
    return 0;
  }

  private int delete(Admins admins) {
    if (admins.remove(name).isEmpty()) {
      console.complain("There is no admin " + name + ".");
      return FAILED;
    }
    console.say(name + " is no admin any more.");
    return 0;
  }

  private static String elsewhere() {
    return " A server that runs has its admins changed through PUT and DELETE of"
        + " /_node/_local/_config/admins/NAME, or makes one when it starts with COUCHDB_USER and"
        + " COUCHDB_PASSWORD in its environment.";
  }
}

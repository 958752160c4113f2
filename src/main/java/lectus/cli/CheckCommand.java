package lectus.cli;

import com.apple.foundationdb.FDBException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import lectus.audit.AuditReport;
import lectus.audit.AuditReport.Finding;
import lectus.audit.StoreAudit;
import lectus.audit.StoreAudit.AuditListener;
import lectus.audit.StoreRepair;
import lectus.config.ConfigurationException;
import lectus.config.ConfiguredStore;
import lectus.database.DatabaseName;
import lectus.error.FoundationDbError;
import lectus.error.LectusException;
import lectus.error.StoreOpenException;
import lectus.store.Store;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * {@code lectus check}: checks whether a store is sound and changes nothing. Findings go to
 * standard output, one line each; progress goes to standard error.
 */
@Command(
    name = "check",
    description = {
      "Checks whether a store is consistent; changes nothing, unless it is to repair.",
      "The server of an embedded store has to be stopped; a cluster may be running."
    },
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit status:%n",
    exitCodeList = {"0:sound", "1:not sound", "2:not checked, or not completely"})
public final class CheckCommand implements Callable<Integer> {
  static final int SOUND = 0;
  static final int NOT_SOUND = 1;
  public static final int NOT_CHECKED = 2;

  private final Console console;

  private final ConfigurationFlags flags;

  @Parameters(
      arity = "0..1",
      paramLabel = "DATABASE",
      description = "Check this database only; by default the whole store.")
  private String database;

  @Option(
      names = "--repair",
      description = {
        "Say how each finding can be repaired, and what would be lost by that.",
        "Nothing is changed without --yes. Make a backup first."
      })
  private boolean repairs;

  @Option(names = "--yes", description = "With --repair: do it.")
  private boolean isConfirmed;

  public CheckCommand(Map<String, String> environment, Console console) {
    this.flags = new ConfigurationFlags(environment);
    this.console = console;
  }

  public CommandLine commandLine() {
    return flags.of(this);
  }

  @Override
  public Integer call() {
    if (isConfirmed && !repairs) {
      console.complain("--yes is for --repair.");
      return NOT_CHECKED;
    }
    try (Store store = open()) {
      return tell(isConfirmed ? repair(store) : audit(new StoreAudit(store, new Telling())));
    } catch (StoreOpenException e) {
      if (e.isDamage()) {
        console.say(e.getMessage());
        return NOT_SOUND;
      }
      console.complain(e.getMessage());
    } catch (ConfigurationException e) {
      console.complain(e.getMessage());
    } catch (LectusException e) {
      console.complain(e.error().reason());
    } catch (FDBException e) {
      if (FoundationDbError.FILE_CORRUPT.is(e.getCode())) {
        console.say("Not sound, and not read to the end: " + e.getMessage() + ".");
        return NOT_SOUND;
      }
      console.complain("The store cannot be read: " + e.getMessage());
    }
    return NOT_CHECKED;
  }

  private Store open() {
    return isConfirmed
        ? ConfiguredStore.open(flags.configuration())
        : ConfiguredStore.openReadOnly(flags.configuration());
  }

  private AuditReport repair(Store store) {
    Optional<DatabaseName> only = Optional.ofNullable(database).map(DatabaseName::of);
    AuditReport report =
        new StoreRepair(store, only)
            .run(
                new Telling(),
                (place, repair) -> console.say("Repaired: " + place + ": " + repair.sentence()));
    report.findings().forEach(it -> console.say("Left: " + it));
    return report;
  }

  private AuditReport audit(StoreAudit audit) {
    return database == null ? audit.run() : audit.run(DatabaseName.of(database));
  }

  private int tell(AuditReport report) {
    long unnamed = report.found() - report.findings().size();
    if (unnamed > 0) {
      console.say("and " + unnamed + " more findings");
    }
    report.notes().forEach(console::say);
    if (repairs && !isConfirmed && !report.isSound()) {
      console.say("Nothing was changed. With --yes what can be repaired is repaired.");
    }
    console.say(
        verdict(report)
            + ": "
            + count(report.databases(), "database")
            + " with "
            + count(report.documents(), "document")
            + ", deleted ones included, read at "
            + report.versions()
            + ".");
    return report.isSound() ? SOUND : NOT_SOUND;
  }

  private static String verdict(AuditReport report) {
    return report.isSound() ? "Sound" : "Not sound, " + count(report.found(), "finding");
  }

  private static String count(long number, String noun) {
    return number + " " + noun + (number == 1 ? "" : "s");
  }

  /** Prints findings as they come, and progress. */
  private final class Telling implements AuditListener {
    @Override
    public void found(Finding finding) {
      console.say(finding.toString());
      if (repairs) {
        console.say(
            finding
                .repair()
                .map(it -> "  repair: " + it.sentence())
                .orElse("  repair: none, a backup is needed"));
      }
    }

    @Override
    public void reached(String what, long count) {
      console.err().println(count + " " + what + " so far");
      console.err().flush();
    }
  }
}

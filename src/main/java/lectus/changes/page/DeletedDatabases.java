package lectus.changes.page;

import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.LongSupplier;
import lectus.changes.log.UpdateSequence;
import lectus.database.Catalogue;
import lectus.database.Catalogue.DatabaseInstance;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DeletedSubspace;
import lectus.database.DeletedSubspace.Deleted;
import lectus.database.Incarnations.Origin;
import lectus.database.Sequence;
import lectus.derived.Derived;
import lectus.derived.rows.FillingJobs;
import lectus.document.PagedBody;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.store.Awaiting;
import lectus.store.LeasedRounds;
import lectus.store.LeasedRounds.Found;
import lectus.store.LeasedRounds.LeasedSteps;
import lectus.store.Store;
import lectus.store.TransactionRunner;

/** Databases that were deleted and are kept for a while: they are listed, and come back. */
public final class DeletedDatabases {
  /** Each costs a handful of reads, all of which are begun together. */
  private static final int ROWS_PER_PAGE = 50;

  static final String SWEEP = "deleted-databases";
  private static final int ROWS_AT_ONCE = 1_000;

  private final Catalogue catalogue;
  private final TransactionRunner transactions;
  private final DeletedSubspace rows;
  private final FillingJobs jobs;

  public DeletedDatabases(Store store, Catalogue catalogue, TransactionRunner transactions) {
    this.catalogue = catalogue;
    this.transactions = transactions;
    this.rows = new DeletedSubspace(store.rootPrefix());
    this.jobs = new FillingJobs(store.rootPrefix());
  }

  /**
   * Where a list begins or ends.
   *
   * @param atSeconds empty: with all of the name
   */
  public record Bound(String name, OptionalLong atSeconds) {}

  /**
   * What a list shows, in the order of names and times.
   *
   * @param start in the direction of reading
   */
  public record Listed(
      Optional<Bound> start,
      Optional<Bound> end,
      boolean inclusiveEnd,
      boolean descending,
      long skip,
      long limit) {}

  public PagedBody list(Listed some) {
    return new Infos(some);
  }

  /**
   * Brings a database back, with all that it had when it was deleted. Whatever is written from then
   * on comes behind that; readers of many databases are shown all of it again. One that had moved
   * is at its new place still, and requests are passed on to it again.
   *
   * @param target its name from now on
   * @param isTakenBack whether it takes writes here, though it had moved: then its new place may
   *     take writes, too
   * @throws LectusException {@code not_found}; {@code file_exists} (412); {@code bad_request}: the
   *     system's databases have rules of their own
   */
  public DatabaseHandle undelete(
      DatabaseName source, String timestamp, DatabaseName target, boolean isTakenBack) {
    if ((source.isSystem() || target.isSystem()) && !source.equals(target)) {
      throw LectusException.badRequest("A database of the system comes back under its name alone.");
    }
    return transactions.run(tx -> undelete(tx, source, seconds(timestamp), target, isTakenBack));
  }

  private DatabaseHandle undelete(
      Transaction tx,
      DatabaseName source,
      long atSeconds,
      DatabaseName target,
      boolean isTakenBack) {
    Deleted kept = catalogue.deleted(tx, source, atSeconds);
    Optional<Sequence> last =
        Awaiting.await(new UpdateSequence(catalogue.former(tx, kept)).read(tx));
    DatabaseInstance life = catalogue.revive(tx, kept, target, isTakenBack);
    DatabaseHandle db = catalogue.appear(tx, life, kept.createdAtSeconds(), Origin.RESTORED, last);
    for (Derived each : db.derived()) {
      if (!each.isReadable()) {
        jobs.begin(tx, db, each.number());
      }
    }
    return db;
  }

  /**
   * Removes one for good.
   *
   * @throws LectusException {@code not_found}
   */
  public void remove(DatabaseName name, String timestamp) {
    long atSeconds = seconds(timestamp);
    transactions.write(tx -> catalogue.remove(tx, catalogue.deleted(tx, name, atSeconds)));
  }

  private static long seconds(String timestamp) {
    return DeletedSubspace.seconds(timestamp)
        .orElseThrow(() -> LectusException.notFound("missing"));
  }

  private final class Infos implements PagedBody {
    private final boolean descending;
    private Range rest;
    private long toSkip;
    private long toList;
    private String separator = "[";

    Infos(Listed some) {
      this.descending = some.descending();
      this.toSkip = some.skip();
      this.toList = some.limit();
      Range all = rows.range();
      byte[] first = some.start().map(this::key).orElse(all.begin);
      byte[] last = some.start().map(this::behind).orElse(all.end);
      boolean isOpen = !some.inclusiveEnd();
      this.rest =
          descending
              ? new Range(
                  some.end().map(it -> isOpen ? behind(it) : key(it)).orElse(all.begin), last)
              : new Range(
                  first, some.end().map(it -> isOpen ? key(it) : behind(it)).orElse(all.end));
    }

    private byte[] key(Bound bound) {
      return rows.key(bound.name(), bound.atSeconds());
    }

    private byte[] behind(Bound bound) {
      return rows.behind(bound.name(), bound.atSeconds());
    }

    @Override
    public boolean appendNext(JsonBuffer out) {
      boolean isEmpty = Arrays.compareUnsigned(rest.begin, rest.end) >= 0 || toList == 0;
      int length = out.length();
      List<Deleted> page =
          isEmpty ? List.of() : transactions.read(tx -> page(tx, out.truncate(length)));
      if (page.size() == ROWS_PER_PAGE && toList > 0) {
        return true;
      }
      out.ascii(separator.equals("[") ? "[]\n" : "]\n");
      return false;
    }

    private List<Deleted> page(ReadTransaction tx, JsonBuffer out) {
      List<Deleted> page =
          Awaiting.await(rows.read(tx.snapshot(), rest, ROWS_PER_PAGE, descending));
      int skipped = (int) Math.min(toSkip, page.size());
      int listed = (int) Math.min(toList, page.size() - skipped);
      String before = separator;
      List<DatabaseInfo.Reading> reading = new ArrayList<>(listed);
      for (Deleted kept : page.subList(skipped, skipped + listed)) {
        reading.add(DatabaseInfo.Reading.begin(tx, catalogue.former(tx, kept)));
      }
      for (int i = 0; i < listed; i++) {
        append(reading.get(i), page.get(skipped + i), out.ascii(before));
        before = ",";
      }
      separator = before;
      toSkip -= skipped;
      toList -= listed;
      if (!page.isEmpty()) {
        goOnBehind(page.get(page.size() - 1));
      }
      return page;
    }

    private void append(DatabaseInfo.Reading info, Deleted kept, JsonBuffer out) {
      info.append(out);
      out.truncate(out.length() - 1).ascii(",\"deleted\":true,\"timestamp\":");
      out.string(kept.timestamp()).octet('}');
    }

    private void goOnBehind(Deleted last) {
      Range read = rows.range(last);
      rest = descending ? new Range(rest.begin, read.begin) : new Range(read.end, rest.end);
    }
  }

  /**
   * Returns what removes those that were kept long enough, one in each step.
   *
   * @param keptSeconds for how long they are kept, in each round anew
   */
  public LeasedSteps sweep(Store store, LongSupplier keptSeconds) {
    return sweep(new LeasedRounds(store, SWEEP), keptSeconds, InstantSource.system());
  }

  LeasedSteps sweep(LeasedRounds rounds, LongSupplier keptSeconds, InstantSource clock) {
    return rounds.steps(
        LeasedRounds.<Deleted, Range>each(
            from -> past(from, clock.instant().getEpochSecond() - keptSeconds.getAsLong()),
            kept -> remove(kept, rounds)));
  }

  private Found<Deleted, Range> past(Optional<Range> from, long untilSeconds) {
    Range rest = from.orElseGet(rows::range);
    List<Deleted> some =
        transactions.read(
            tx -> Awaiting.await(rows.read(tx.snapshot(), rest, ROWS_AT_ONCE, false)));
    return new Found<>(
        some.stream().filter(it -> it.atSeconds() <= untilSeconds).toList(),
        some.size() < ROWS_AT_ONCE
            ? Optional.empty()
            : Optional.of(new Range(rows.range(some.get(ROWS_AT_ONCE - 1)).end, rest.end)));
  }

  /** Somebody may have brought it back, or removed it. */
  private void remove(Deleted kept, LeasedRounds rounds) {
    transactions.writeIdempotent(
        tx -> {
          if (rounds.holds(tx)) {
            LectusException.unlessMissing(
                    () -> catalogue.deleted(tx, kept.life().name(), kept.atSeconds()))
                .ifPresent(it -> catalogue.remove(tx, it));
          }
        });
  }
}

package lectus.view;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.document.testing.TestDatabase;
import lectus.script.Scripts;
import lectus.script.Scripts.Pool;
import lectus.store.Awaiting;
import lectus.view.ViewsSubspace.Registered;
import lectus.view.ViewsSubspace.State;

/** An index of views, compared byte for byte with one that is built anew beside it. */
public final class FreshBuild {
  /** What the other one's number is higher. */
  private static final int ASIDE = 1_000;

  private final TestDatabase database;
  private final Scripts scripts;
  private final ViewDefinition definition;

  /**
   * @param design the JSON of a design document, whose index is the database as it is
   */
  public FreshBuild(TestDatabase database, Scripts scripts, String design) {
    this.database = database;
    this.scripts = scripts;
    this.definition = ViewDefinition.of(TestDatabase.utf8(design), false).orElseThrow();
  }

  /** Reads the database as it is. */
  record Reader(TestDatabase database) implements IndexStep.DatabaseReader {
    @Override
    public DatabaseHandle of(ReadTransaction tx) {
      return database.catalogue.current(tx, database.name);
    }

    @Override
    public DatabaseHandle forWrites(Transaction tx) {
      return database.catalogue.currentForWrites(tx, database.name);
    }
  }

  /** Registers the index; returns it if there is one. */
  Registered register() {
    return database.transactions.run(
        tx -> new ViewsSubspace(new Reader(database).forWrites(tx)).register(tx, definition));
  }

  /** Registers the index with a salt, in place of one by chance. */
  Registered register(long salt) {
    return database.transactions.run(
        tx -> {
          ViewsSubspace views = new ViewsSubspace(new Reader(database).forWrites(tx));
          Registered by = views.register(tx, definition);
          Registered index =
              new Registered(by.signature(), by.number(), salt, by.views(), by.isPartitioned());
          views.put(tx, index);
          return index;
        });
  }

  IndexStep step(Registered index, IndexStep.DatabaseReader reader) {
    ViewFunctions functions =
        new ViewFunctions(scripts, Pool.BACKGROUND, "test", "test", definition);
    return new IndexStep(
        database.transactions, reader, definition, index, functions, IndexStep.MOST_BYTES, this);
  }

  /** Returns all rows of an index, without what tells it from others. */
  Map<String, String> rows(long number) {
    return database.read(
        (tx, db) -> {
          byte[] prefix = ViewRows.of(db, number);
          Map<String, String> rows = new LinkedHashMap<>();
          Awaiting.await(tx.getRange(Range.startsWith(prefix)).asList())
              .forEach(
                  row ->
                      rows.put(
                          HexFormat.of()
                              .formatHex(row.getKey(), prefix.length, row.getKey().length),
                          HexFormat.of().formatHex(row.getValue())));
          return rows;
        });
  }

  /**
   * Fails if they differ.
   *
   * @param keepsNodes whether the new one keeps its nodes up to date after each step
   */
  public void assertEqual(boolean keepsNodes) {
    Registered index = register();
    Registered fresh =
        new Registered(
            index.signature(), index.number() + ASIDE, index.salt(), index.views(), false);
    database.transactions.<Void>run(
        tx -> {
          clear(tx, fresh);
          new ViewsSubspace(new Reader(database).forWrites(tx))
              .write(tx, fresh.number(), State.NEW);
          return null;
        });
    IndexStep step = step(fresh, new Reader(database));
    while (!step.run(keepsNodes).isCurrent()) {
      // goes on
    }
    Map<String, String> expected = rows(fresh.number());
    database.transactions.<Void>run(
        tx -> {
          clear(tx, fresh);
          return null;
        });
    assertThat(rows(index.number())).isEqualTo(expected);
  }

  private void clear(Transaction tx, Registered fresh) {
    DatabaseHandle db = new Reader(database).forWrites(tx);
    tx.clear(Range.startsWith(ViewRows.of(db, fresh.number())));
    tx.clear(DatabaseSubspace.VIEWS.key(db.prefix()).integer(2).integer(fresh.number()).toBytes());
    new BuildTasks(db, fresh.number()).clear(tx);
  }
}

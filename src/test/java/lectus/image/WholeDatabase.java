package lectus.image;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import lectus.attachment.AttachmentKeys;
import lectus.attachment.ChunksSubspace;
import lectus.attachment.ContentsSubspace;
import lectus.attachment.ContentsSubspace.StoredContent;
import lectus.attachment.ReferencesSubspace;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.database.DerivedSubspace;
import lectus.database.Sequence;
import lectus.derived.Derived;
import lectus.document.testing.TestDatabase;
import lectus.json.TupleReader;
import lectus.revision.EditBranch;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;

/**
 * Everything that a database is, row by row, as text: two databases that are the same have the same
 * rows, whatever their prefixes.
 *
 * @param last its last sequence
 * @param rows by key
 * @param unfilled with what the keys of indexes and stored feeds begin that lack rows of older
 *     documents: a copy has them
 */
public record WholeDatabase(Sequence last, TreeMap<String, String> rows, Set<String> unfilled) {
  private static final List<DatabaseSubspace> AS_THEY_ARE =
      List.of(
          DatabaseSubspace.DOCUMENTS,
          DatabaseSubspace.ALL_DOCS,
          DatabaseSubspace.DELETED_DOCS,
          DatabaseSubspace.LOCAL_DOCS,
          DatabaseSubspace.CHANGES,
          DatabaseSubspace.CHANGES_DEPRECATED,
          DatabaseSubspace.VALIDATORS,
          DatabaseSubspace.NUMBERS,
          DatabaseSubspace.PURGES,
          DatabaseSubspace.DERIVED_ROWS);

  public static WholeDatabase of(TestDatabase database) {
    return database.read(WholeDatabase::of);
  }

  private static WholeDatabase of(ReadTransaction tx, DatabaseHandle db) {
    TreeMap<String, String> rows = new TreeMap<>();
    Set<String> unfilled =
        db.derived().stream()
            .filter(it -> !it.isReadable())
            .map(it -> DatabaseSubspace.DERIVED_ROWS.key(new byte[0]).integer(it.number()))
            .map(it -> hex(it.toBytes()))
            .collect(Collectors.toSet());
    for (DatabaseSubspace part : AS_THEY_ARE) {
      rows(tx, db, part).forEach(row -> rows.put(key(db, row), hex(row.getValue())));
    }
    for (KeyValue row : Awaiting.await(Catalogue.portable(tx, db))) {
      String key = new TupleReader(row.getKey(), 1).string();
      if (!key.equals("incarnations")) {
        rows.put(hex(row.getKey()), hex(row.getValue()));
      }
    }
    settings(tx, db, DatabaseSubspace.VIEWS, 1, rows);
    settings(tx, db, DatabaseSubspace.AUTO_PURGE, 0, rows);
    definitions(tx, db, rows);
    branches(tx, db, rows);
    attachments(tx, db, rows);
    return new WholeDatabase(ImagePage.lastOf(tx, db), rows, unfilled);
  }

  private static List<KeyValue> rows(ReadTransaction tx, DatabaseHandle db, DatabaseSubspace part) {
    return Awaiting.await(tx.getRange(part.range(db.prefix())).asList());
  }

  /** Not how far views and sweeps are. */
  private static void settings(
      ReadTransaction tx,
      DatabaseHandle db,
      DatabaseSubspace part,
      int most,
      TreeMap<String, String> rows) {
    for (KeyValue row : rows(tx, db, part)) {
      if (number(db, part, row) <= most) {
        rows.put(key(db, row), hex(row.getValue()));
      }
    }
  }

  private static long number(DatabaseHandle db, DatabaseSubspace part, KeyValue row) {
    return new TupleReader(row.getKey(), part.key(db.prefix()).length()).integer();
  }

  private static String key(DatabaseHandle db, KeyValue row) {
    return hex(Arrays.copyOfRange(row.getKey(), db.prefix().length, row.getKey().length));
  }

  private static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(bytes);
  }

  /** Whether they are readable is no part of it: what comes has all rows. */
  private static void definitions(
      ReadTransaction tx, DatabaseHandle db, TreeMap<String, String> rows) {
    DerivedSubspace subspace = new DerivedSubspace(db.prefix());
    for (KeyValue row : rows(tx, db, DatabaseSubspace.DERIVED)) {
      Derived one = subspace.decode(row);
      rows.put(key(db, row), one.number() + " " + one.definition());
    }
  }

  /** How many bytes a body takes depends on the length of the prefix. */
  private static void branches(
      ReadTransaction tx, DatabaseHandle db, TreeMap<String, String> rows) {
    for (KeyValue row : rows(tx, db, DatabaseSubspace.REVISIONS)) {
      TupleReader key =
          new TupleReader(row.getKey(), DatabaseSubspace.REVISIONS.key(db.prefix()).length());
      key.string();
      EditBranch branch = RevisionsSubspace.decode(row, key.position());
      String winner =
          branch.isWinner()
              ? branch.winner().sequence() + " of " + branch.winner().branchCount()
              : "loses";
      rows.put(
          key(db, row),
          branch.path()
              + " "
              + branch.body().external()
              + " "
              + branch.body().attachments()
              + " "
              + branch.body().isStored()
              + " "
              + winner);
    }
  }

  private static void attachments(
      ReadTransaction tx, DatabaseHandle db, TreeMap<String, String> rows) {
    ReferencesSubspace references = new ReferencesSubspace(db.prefix());
    ContentsSubspace contents = new ContentsSubspace(db.prefix());
    ChunksSubspace chunks = new ChunksSubspace(db.prefix());
    for (KeyValue row :
        Awaiting.await(tx.getRange(AttachmentKeys.REFERENCES.range(db.prefix())).asList())) {
      StoredContent content =
          Awaiting.await(
                  contents.get(tx, references.decode(row.getKey(), row.getValue()).content()))
              .orElseThrow();
      List<KeyValue> pieces = Awaiting.await(tx.getRange(chunks.range(content.upload())).asList());
      List<String> all = new ArrayList<>();
      pieces.forEach(piece -> all.add(hex(piece.getValue())));
      rows.put(
          key(db, row),
          content.md5() + " " + content.length() + " " + content.plainLength() + " " + all);
    }
  }

  private boolean isUnfilled(String key) {
    return unfilled.stream().anyMatch(key::startsWith);
  }

  /** Returns what differs, a line for each row. */
  public List<String> differencesTo(WholeDatabase other) {
    TreeSet<String> keys = new TreeSet<>(rows.keySet());
    keys.addAll(other.rows.keySet());
    keys.removeIf(key -> isUnfilled(key) || other.isUnfilled(key));
    List<String> differences = new ArrayList<>();
    for (String key : keys) {
      String one = rows.get(key);
      String another = other.rows.get(key);
      if (one == null || !one.equals(another)) {
        differences.add(key + ": " + one + " / " + another);
      }
    }
    return differences;
  }
}

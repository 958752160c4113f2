package lectus.view;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.changes.log.GoneSubspace;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.error.LectusException;
import lectus.revision.EditBranch;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;
import lectus.view.ViewDefinition.View;
import lectus.view.ViewRows.Place;
import lectus.view.ViewRows.Summary;
import lectus.view.ViewTree.Child;
import lectus.view.ViewsSubspace.Phase;
import lectus.view.ViewsSubspace.Registered;
import lectus.view.ViewsSubspace.State;

/**
 * Looks whether the rows of an index of views agree with each other: each place of a document has
 * its row and each row its place, each node has what its children have and begins where it should,
 * and a document with rows is there, unless the index has not come to its end yet. A check runs no
 * function of a design document: what maps would emit is not looked at, nor are reductions of
 * functions; those that the server has itself are made again.
 */
public final class ViewCheck {
  private static final int ROWS = 500;

  private final DatabaseHandle db;
  private final Registered index;
  private final ViewRows rows;

  private ViewCheck(DatabaseHandle db, Registered index) {
    this.db = db;
    this.index = index;
    this.rows = new ViewRows(db, index.number(), index.isPartitioned());
  }

  public static List<Long> indexes(ReadTransaction tx, DatabaseHandle db) {
    return new ViewsSubspace(db).readable(tx).stream().map(Registered::number).toList();
  }

  /** Returns the check of an index; empty if it is gone. */
  public static Optional<ViewCheck> of(ReadTransaction tx, DatabaseHandle db, long number) {
    return new ViewsSubspace(db)
        .readable(tx).stream()
            .filter(it -> it.number() == number)
            .findFirst()
            .map(it -> new ViewCheck(db, it));
  }

  /** Returns the range of all indexes and their states. */
  public static Range definitions(DatabaseHandle db) {
    return DatabaseSubspace.VIEWS.range(db.prefix());
  }

  /**
   * Checks that a row among these can be read.
   *
   * @throws lectus.json.MalformedTupleException it cannot
   */
  public static void checkDefinition(DatabaseHandle db, KeyValue row) {
    new ViewsSubspace(db).check(row);
  }

  public Range range() {
    return rows.range();
  }

  /**
   * Checks that a row of the index can be read.
   *
   * @throws lectus.json.MalformedTupleException it cannot
   */
  public void check(KeyValue row) {
    rows.check(row);
  }

  /**
   * What a check makes reductions with.
   *
   * @param ofViews empty: by a function, or unknown
   */
  public record Reductions(List<Optional<Reducer>> ofViews) {
    public static final Reductions UNKNOWN = new Reductions(List.of());

    private Reducer of(int view) {
      return isKnown(view) ? ofViews.get(view).get() : Reducer.none();
    }

    private boolean isKnown(int view) {
      return view < ofViews.size() && ofViews.get(view).isPresent();
    }
  }

  /** Returns the reductions of the index, as far as they are the server's own. */
  public Reductions reductions(ReadTransaction tx) {
    return new Reductions(
        new DesignViews()
            .find(tx, db, index.signature())
            .map(it -> it.views().stream().map(ViewCheck::reducer).toList())
            .orElse(List.of()));
  }

  private static Optional<Reducer> reducer(View view) {
    return view.reduce().isEmpty()
        ? Optional.of(Reducer.none())
        : BuiltInReduces.named(view.reduce().get());
  }

  /** Removes the index; it is built anew when it is needed. */
  public void remove(Transaction tx) {
    new ViewsSubspace(db).remove(tx, index);
  }

  /**
   * How far a check is.
   *
   * @param level -1: documents
   * @param from key of the next row
   */
  public record Position(int view, int level, Optional<byte[]> from) {
    public static final Position BEGIN = new Position(0, -1, Optional.empty());
  }

  /**
   * A part of a check, which one transaction did.
   *
   * @param next empty: this was the last part
   */
  public record Part(List<String> wrong, Optional<Position> next) {}

  public Part check(ReadTransaction tx, Position at, Reductions reductions) {
    List<String> wrong = new ArrayList<>();
    Optional<State> state = Awaiting.await(new ViewsSubspace(db).read(tx, index.number()));
    if (state.isEmpty()) {
      return new Part(List.of("an index of views has no state"), Optional.empty());
    }
    Range range =
        at.level < 0
            ? rows.documents()
            : rows.range(at.view, at.level, ViewTree.FIRST, Optional.empty());
    List<KeyValue> read =
        Awaiting.await(tx.getRange(at.from.orElse(range.begin), range.end, ROWS).asList());
    if (at.level < 0) {
      checkDocuments(tx, state.get(), read, wrong);
    } else if (at.level == 0) {
      checkRows(tx, at.view, read, wrong);
    } else if (state.get().isSettled()) {
      checkNodes(tx, at, reductions, range, read, wrong);
    }
    return new Part(wrong, next(at, read));
  }

  private Optional<Position> next(Position at, List<KeyValue> read) {
    if (read.size() == ROWS) {
      byte[] last = read.get(ROWS - 1).getKey();
      return Optional.of(
          new Position(at.view, at.level, Optional.of(Arrays.copyOf(last, last.length + 1))));
    }
    if (at.level < ViewTree.TOP) {
      return Optional.of(new Position(at.view, at.level + 1, Optional.empty()));
    }
    return at.view + 1 < index.views()
        ? Optional.of(new Position(at.view + 1, 0, Optional.empty()))
        : Optional.empty();
  }

  private void checkDocuments(
      ReadTransaction tx, State state, List<KeyValue> read, List<String> wrong) {
    Map<String, CompletableFuture<Optional<EditBranch>>> winners = new HashMap<>();
    Map<String, List<CompletableFuture<byte[]>>> of = new HashMap<>();
    RevisionsSubspace revisions = new RevisionsSubspace(db);
    for (KeyValue row : read) {
      String id = rows.documentOf(row);
      winners.computeIfAbsent(id, it -> revisions.winner(tx, it));
      for (Place place : rows.places(id, List.of(row))) {
        of.computeIfAbsent(id, it -> new ArrayList<>())
            .add(tx.get(rows.key(place.view(), 0, place.key())));
      }
    }
    of.forEach(
        (id, places) -> {
          if (places.stream().anyMatch(it -> Awaiting.await(it) == null)) {
            wrong.add("the index of views lacks a row of the document " + id);
          }
        });
    winners.forEach(
        (id, winner) -> {
          if (!isExpected(tx, state, id, Awaiting.await(winner))) {
            wrong.add("the index of views has rows of the document " + id + ", which is gone");
          }
        });
  }

  /** A document that is deleted or gone has rows only as long as the index does not know. */
  private boolean isExpected(
      ReadTransaction tx, State state, String id, Optional<EditBranch> winner) {
    if (winner.isPresent()) {
      return !winner.get().deleted() || state.isBehind(winner.get().winner().sequence());
    }
    return state.phase() == Phase.TASKS
        || state.phase() == Phase.GONE
        || Awaiting.await(new GoneSubspace(db).after(tx, state.upTo(), Short.MAX_VALUE)).stream()
            .anyMatch(it -> it.docId().equals(id));
  }

  private void checkRows(ReadTransaction tx, int view, List<KeyValue> read, List<String> wrong) {
    Map<String, CompletableFuture<List<Place>>> places = new HashMap<>();
    for (KeyValue row : read) {
      places.computeIfAbsent(docId(view, row), id -> rows.places(tx, id));
    }
    for (KeyValue row : read) {
      byte[] place = rows.placeOf(view, 0, row);
      String id = docId(view, row);
      boolean isKnown =
          Awaiting.await(places.get(id)).stream()
              .anyMatch(it -> it.view() == view && Arrays.equals(it.key(), place));
      if (!isKnown) {
        wrong.add("the index of views has a row that the document " + id + " does not have");
      }
      ViewRows.emitted(row.getValue());
    }
  }

  private String docId(int view, KeyValue row) {
    return ViewRows.parts(rows.placeOf(view, 0, row)).docId();
  }

  /** Each node reaches up to the next; nothing lies before the first. */
  private void checkNodes(
      ReadTransaction tx,
      Position at,
      Reductions reductions,
      Range range,
      List<KeyValue> read,
      List<String> wrong) {
    ViewTree tree = new ViewTree(rows, at.view, index.salt(), reductions.of(at.view));
    boolean isFirst = at.from.isEmpty();
    List<byte[]> places = new ArrayList<>();
    read.forEach(row -> places.add(rows.placeOf(at.view, at.level, row)));
    if (isFirst) {
      Optional<byte[]> first = places.isEmpty() ? Optional.empty() : Optional.of(places.get(0));
      Range before = rows.range(at.view, at.level - 1, ViewTree.FIRST, first);
      if (!Awaiting.await(tx.getRange(before.begin, before.end, 1).asList()).isEmpty()) {
        wrong.add("the index of views lacks a node of level " + at.level);
      }
    }
    for (int i = 0; i < read.size(); i++) {
      Optional<byte[]> end =
          i + 1 < places.size()
              ? Optional.of(places.get(i + 1))
              : following(tx, at, read.get(i), range);
      Summary is = ViewRows.summary(read.get(i).getValue());
      Optional<Summary> made = made(tx, at, tree, places.get(i), end);
      if (made.filter(it -> it.rows() == is.rows() && it.bytes() == is.bytes()).isEmpty()) {
        wrong.add("a node of level " + at.level + " of the index of views is wrong");
      } else if (reductions.isKnown(at.view)
          && !Arrays.equals(made.get().reduction(), is.reduction())) {
        wrong.add("a node of level " + at.level + " of the index of views has a wrong reduction");
      }
    }
  }

  private Optional<byte[]> following(ReadTransaction tx, Position at, KeyValue last, Range range) {
    byte[] behind = Arrays.copyOf(last.getKey(), last.getKey().length + 1);
    return Awaiting.await(tx.getRange(behind, range.end, 1).asList()).stream()
        .findFirst()
        .map(row -> rows.placeOf(at.view, at.level, row));
  }

  /** Returns what a node should have; empty if its children should not be those of one node. */
  private Optional<Summary> made(
      ReadTransaction tx, Position at, ViewTree tree, byte[] place, Optional<byte[]> end) {
    int below = at.level - 1;
    List<Child> children = new ArrayList<>();
    for (KeyValue row : tx.getRange(rows.range(at.view, below, place, end))) {
      children.add(tree.child(below, row));
    }
    boolean isInShape =
        (place.length == 0 || tree.levelOf(place) >= at.level)
            && children.stream()
                .allMatch(
                    it -> Arrays.equals(it.place(), place) || tree.levelOf(it.place()) < at.level);
    try {
      return isInShape && !children.isEmpty()
          ? Optional.of(tree.summary(at.level, children))
          : Optional.empty();
    } catch (LectusException | ClassCastException | IndexOutOfBoundsException unreadable) {
      // A child's reduction is none of its reducer's.
      return Optional.empty();
    }
  }
}

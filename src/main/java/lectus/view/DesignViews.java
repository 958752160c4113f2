package lectus.view;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseHandle;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.document.AttachmentsShown;
import lectus.document.DocumentId;
import lectus.document.read.AllDocsSubspace;
import lectus.document.read.AllDocsSubspace.AllDocsRow;
import lectus.document.read.LeafDocuments;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.revision.EditBranch.Winner;
import lectus.revision.RevisionId;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;

/**
 * The views that a database's design documents define. Which signature a design document has is
 * kept in memory, so of many that are looked at again and again only those are parsed that have
 * changed, one at a time. Thread-safe.
 */
final class DesignViews {
  /** The first id that sorts after those of all design documents. */
  private static final String BEHIND_DESIGN = "_design0";

  private static final int PAGE = 100;

  /** Some 300 bytes each. */
  private static final int MOST_KEPT = 4_000;

  /** Characters of an id. */
  private static final int LONGEST_KEPT = 200;

  private static final String NONE = "";

  private final Cache<Key, String> signatures =
      Caffeine.newBuilder().maximumSize(MOST_KEPT).executor(Runnable::run).build();

  /**
   * A revision may be purged and come again with another body, so the sequence tells them apart.
   */
  private record Key(InstanceId instance, String id, RevisionId winner, Sequence changedAt) {}

  /** Takes what a design document defines; returns whether to go on. */
  interface Sink {
    boolean take(AllDocsRow design, String signature);
  }

  /** Goes through the design documents with views that can be run. */
  void each(ReadTransaction tx, DatabaseHandle db, Sink sink) {
    AllDocsSubspace winners = new AllDocsSubspace(db);
    RevisionsSubspace revisions = new RevisionsSubspace(db);
    byte[] from = winners.key(DocumentId.DESIGN_PREFIX);
    byte[] end = winners.key(BEHIND_DESIGN);
    List<KeyValue> rows;
    do {
      rows = Awaiting.await(tx.getRange(from, end, PAGE).asList());
      List<AllDocsRow> designs = rows.stream().map(winners::decode).toList();
      List<CompletableFuture<Optional<Winner>>> changed =
          designs.stream().map(it -> revisions.asWinner(tx, it.id(), it.winner())).toList();
      for (int i = 0; i < designs.size(); i++) {
        AllDocsRow design = designs.get(i);
        Optional<Winner> at = Awaiting.await(changed.get(i));
        String signature = at.map(it -> signature(tx, db, design, it.sequence())).orElse(NONE);
        if (!signature.equals(NONE) && !sink.take(design, signature)) {
          return;
        }
        byte[] last = rows.get(i).getKey();
        from = Arrays.copyOf(last, last.length + 1);
      }
    } while (rows.size() == PAGE);
  }

  private String signature(
      ReadTransaction tx, DatabaseHandle db, AllDocsRow design, Sequence changedAt) {
    Key key = new Key(db.instance(), design.id(), design.winner(), changedAt);
    String known = signatures.getIfPresent(key);
    if (known != null) {
      return known;
    }
    String signature = definition(tx, db, design).map(ViewDefinition::signature).orElse(NONE);
    if (design.id().length() <= LONGEST_KEPT) {
      signatures.put(key, signature);
    }
    return signature;
  }

  /** Reads what a design document defines; empty if none of it can be run. */
  private static Optional<ViewDefinition> definition(
      ReadTransaction tx, DatabaseHandle db, AllDocsRow design) {
    LeafDocuments documents = new LeafDocuments(tx, db, List.of(), AttachmentsShown.STUBS);
    JsonBuffer json = new JsonBuffer(1_024);
    try {
      documents.append(documents.start(design.id(), false, design.winner()), List.of(), json);
      return ViewDefinition.of(json.toBytes(), db.configuration().partitioned())
          .filter(ViewDefinition::isSpoken);
    } catch (LectusException unusable) {
      return Optional.empty();
    }
  }

  /** Returns the definition with a signature; empty if no design document has it. */
  Optional<ViewDefinition> find(ReadTransaction tx, DatabaseHandle db, String signature) {
    AllDocsRow[] found = new AllDocsRow[1];
    each(
        tx,
        db,
        (design, its) -> {
          if (its.equals(signature)) {
            found[0] = design;
          }
          return found[0] == null;
        });
    return Optional.ofNullable(found[0]).flatMap(it -> definition(tx, db, it));
  }
}

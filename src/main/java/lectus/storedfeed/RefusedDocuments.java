package lectus.storedfeed;

import com.apple.foundationdb.ReadTransaction;
import java.util.List;
import lectus.database.DatabaseHandle;
import lectus.derived.StoredFeed;
import lectus.json.JsonBuffer;
import lectus.store.Awaiting;

/** Names some of the documents that a stored feed could not take. */
final class RefusedDocuments {
  private static final int MOST_NAMED = 20;

  private final ReadTransaction tx;
  private final FeedStatesSubspace states;

  RefusedDocuments(ReadTransaction tx, DatabaseHandle db, StoredFeed feed) {
    this.tx = tx;
    this.states = new FeedStatesSubspace(db, feed);
  }

  /** Appends a member of an object, if there are any. */
  void appendTo(JsonBuffer out) {
    List<FeedStatesSubspace.Refused> refused =
        Awaiting.await(tx.getRange(states.refused(), MOST_NAMED).asList()).stream()
            .map(states::decodeRefused)
            .toList();
    if (refused.isEmpty()) {
      return;
    }
    out.ascii(",\"refused\":");
    char separator = '[';
    for (FeedStatesSubspace.Refused each : refused) {
      out.octet(separator).ascii("{\"id\":").string(each.docId());
      out.ascii(",\"reason\":").string(each.reason()).octet('}');
      separator = ',';
    }
    out.octet(']');
  }
}

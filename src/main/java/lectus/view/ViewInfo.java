package lectus.view;

import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.derived.SortKey;
import lectus.json.JsonBuffer;
import lectus.store.Awaiting;
import lectus.view.ViewRows.Refused;
import lectus.view.ViewsSubspace.Registered;
import lectus.view.ViewsSubspace.State;

/** What CouchDB tells of the views of a design document. */
record ViewInfo(ReadTransaction tx, DatabaseHandle db, String name) {
  /** Entries of changes that are counted. */
  private static final int MAX_PENDING = 10_000;

  /** Refused documents that are named. */
  private static final int MAX_REFUSED = 20;

  private static final String NO_SIGNATURE = "00000000000000000000000000000000";

  JsonBuffer json(Optional<ViewDefinition> definition, OptionalInt waiting) {
    Optional<Registered> index =
        definition.flatMap(it -> Awaiting.await(new ViewsSubspace(db).find(tx, it.signature())));
    Optional<State> state =
        index.flatMap(it -> Awaiting.await(new ViewsSubspace(db).read(tx, it.number())));
    Optional<Sequence> upTo = state.flatMap(State::upTo);
    long pending =
        definition.isEmpty()
            ? 0
            : DueDocuments.Entries.read(tx, db, upTo, IndexStep.readVersion(tx, db), MAX_PENDING)
                .all()
                .size();
    JsonBuffer out = new JsonBuffer(512).ascii("{\"name\":").string(name);
    out.ascii(",\"view_index\":{\"updates_pending\":{\"minimum\":").number(pending);
    out.ascii(",\"preferred\":").number(pending).ascii(",\"total\":").number(pending);
    out.ascii("},\"waiting_commit\":false,\"waiting_clients\":");
    out.number(waiting.orElse(0)).ascii(",\"updater_running\":");
    out.bool(waiting.isPresent()).ascii(",\"update_seq\":");
    out.string(upTo.map(Sequence::toString).orElse("0"));
    long bytes = index.map(this::bytes).orElse(0L);
    out.ascii(",\"sizes\":{\"file\":").number(bytes).ascii(",\"external\":").number(bytes);
    out.ascii(",\"active\":").number(bytes).ascii("},\"signature\":");
    out.string(definition.map(ViewDefinition::signature).orElse(NO_SIGNATURE));
    out.ascii(",\"purge_seq\":0,\"language\":");
    out.string(definition.map(ViewDefinition::language).orElse("javascript"));
    out.ascii(",\"compact_running\":false,\"collator_versions\":[");
    out.string(SortKey.collatorVersion()).octet(']');
    index.ifPresent(it -> appendRefused(it, out));
    if (state.filter(State::isDropped).isPresent()) {
      out.ascii(",\"dropped\":").string(Views.TOO_MANY_GONE);
    }
    return out.ascii("}}");
  }

  private long bytes(Registered index) {
    Range range = new ViewRows(db, index.number(), false).range();
    return Awaiting.await(tx.getEstimatedRangeSizeBytes(range.begin, range.end));
  }

  private void appendRefused(Registered index, JsonBuffer out) {
    List<Refused> refused = new ViewRows(db, index.number(), false).refused(tx, MAX_REFUSED);
    if (refused.isEmpty()) {
      return;
    }
    out.ascii(",\"refused\":");
    char separator = '[';
    for (Refused each : refused) {
      out.octet(separator).ascii("{\"id\":").string(each.docId());
      out.ascii(",\"reason\":").string(each.why().reason()).octet('}');
      separator = ',';
    }
    out.octet(']');
  }
}

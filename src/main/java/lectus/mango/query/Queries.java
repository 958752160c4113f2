package lectus.mango.query;

import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.StreamingMode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import lectus.attachment.Digests;
import lectus.changes.log.UpdateSequence;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseRequest;
import lectus.database.Partition;
import lectus.database.Sequence;
import lectus.derived.SortKey;
import lectus.derived.StoredIndex;
import lectus.derived.ValueRange;
import lectus.derived.rows.FillingJobs;
import lectus.derived.rows.IndexEntriesSubspace;
import lectus.document.DatabaseReads;
import lectus.document.PagedBody;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.mango.query.IndexRequest.DesignNames;
import lectus.mango.query.Planner.QueryPlan;
import lectus.mango.query.Planner.QueryPlan.Rejected;
import lectus.store.Awaiting;
import lectus.store.TransactionRunner;

/** Answers queries, and what there is to know of them and of indexes. */
public record Queries(
    Catalogue catalogue, TransactionRunner transactions, FillingJobs jobs, QueryMetrics figures) {
  public IndexListJson indexes() {
    return new IndexListJson(catalogue, transactions, jobs);
  }

  /**
   * Returns the whole answer to a query. Its first part throws what is wrong with the query.
   *
   * @param partition that the path names
   */
  public PagedBody find(DatabaseRequest database, byte[] body, Optional<String> partition) {
    FindRequest request = FindRequest.parse(body, partition);
    return new FindBody(new DatabaseReads(catalogue, transactions, database), request, figures);
  }

  public JsonBuffer explain(DatabaseRequest database, byte[] body, Optional<String> partition) {
    FindRequest request = FindRequest.parse(body, partition);
    return transactions.read(
        tx -> {
          DatabaseHandle db = database.current(tx, catalogue);
          checkPartition(db, request);
          return new Explanation(tx, db, request, Planner.toExplain(db, request)).json();
        });
  }

  /** Returns what there is to know of a design document's indexes; empty if it has none. */
  public Optional<JsonBuffer> info(DatabaseRequest database, String name) {
    return transactions.read(
        tx -> new DesignInfo(tx, database.current(tx, catalogue)).json(DesignNames.idOf(name)));
  }

  /**
   * @throws LectusException {@code bad_request}
   */
  static void checkPartition(DatabaseHandle db, FindRequest request) {
    if (request.partition().isPresent() && !db.configuration().partitioned()) {
      throw LectusException.badRequest("database is not partitioned");
    }
  }

  /** What CouchDB tells of the views of a design document, here of its indexes. */
  private record DesignInfo(ReadTransaction tx, DatabaseHandle db) {
    private static final int SIGNATURE_BYTES = 16;

    /**
     * @param design the design document's id
     */
    Optional<JsonBuffer> json(String design) {
      List<StoredIndex> indexes = db.indexes().definedBy(design);
      if (indexes.isEmpty()) {
        return Optional.empty();
      }
      boolean isBuilding = indexes.stream().anyMatch(it -> !it.isReadable());
      JsonBuffer out = new JsonBuffer(512).ascii("{\"name\":").string(DesignNames.bare(design));
      out.ascii(",\"view_index\":{\"updates_pending\":");
      out.ascii("{\"minimum\":0,\"preferred\":0,\"total\":0},\"waiting_commit\":false,");
      out.ascii("\"waiting_clients\":0,\"updater_running\":").bool(isBuilding);
      out.ascii(",\"update_seq\":").string(sequence());
      appendSizes(indexes, out);
      out.ascii(",\"signature\":").string(signature(indexes));
      out.ascii(",\"purge_seq\":0,\"language\":\"query\",\"compact_running\":false,");
      out.ascii("\"collator_versions\":[").string(SortKey.collatorVersion());
      return Optional.of(out.ascii("]}}"));
    }

    /** Indexes are never behind their database. */
    private String sequence() {
      Optional<Sequence> last = Awaiting.await(new UpdateSequence(db).read(tx));
      return last.map(Sequence::toString).orElse("0");
    }

    private void appendSizes(List<StoredIndex> indexes, JsonBuffer out) {
      long bytes = 0;
      for (StoredIndex index : indexes) {
        Range entries = new IndexEntriesSubspace(db, index).range();
        bytes += Awaiting.await(tx.getEstimatedRangeSizeBytes(entries.begin, entries.end));
      }
      out.ascii(",\"sizes\":{\"file\":").number(bytes);
      out.ascii(",\"external\":").number(bytes);
      out.ascii(",\"active\":").number(bytes).octet('}');
    }

    /** Equal definitions have equal signatures. */
    private static String signature(List<StoredIndex> indexes) {
      StringBuilder definitions = new StringBuilder();
      indexes.forEach(
          it ->
              definitions
                  .append(it.definition().name())
                  .append('\n')
                  .append(it.definition().json().toJson())
                  .append('\n'));
      byte[] text = definitions.toString().getBytes(StandardCharsets.UTF_8);
      return HexFormat.of().formatHex(Digests.sha256().digest(text), 0, SIGNATURE_BYTES);
    }
  }

  /**
   * How a query would be answered, and why so. Beside what CouchDB tells there is {@code expected}:
   * how many rows would be read, counted up to a limit.
   */
  record Explanation(ReadTransaction tx, DatabaseHandle db, FindRequest request, QueryPlan plan) {
    private static final int MAX_COUNTED = 1_000;

    /** As CouchDB lists them. */
    private static final Comparator<Rejected> LAST_NAME_FIRST =
        Comparator.comparing((Rejected it) -> it.candidate().design())
            .thenComparing(it -> it.candidate().name())
            .reversed();

    private static final String MAX = "\"<MAX>\"";

    JsonBuffer json() {
      JsonBuffer out = new JsonBuffer(2_048).ascii("{\"dbname\":").string(db.name().text());
      out.ascii(",\"index\":");
      plan.chosen().ifPresentOrElse(it -> append(it, out), out::nil);
      out.ascii(",\"partitioned\":").bool(db.configuration().partitioned());
      out.ascii(",\"selector\":");
      request.normal().json().writeTo(out);
      appendOptions(out);
      out.ascii(",\"limit\":").number(request.limit());
      out.ascii(",\"skip\":").number(request.skip());
      out.ascii(",\"fields\":");
      out.strings(request.fields());
      appendCandidates(out);
      appendHints(out);
      if (plan.chosen().isPresent()) {
        appendReading(plan.chosen().orElseThrow(), out);
      }
      return out.octet('}');
    }

    private static void append(IndexCandidate candidate, JsonBuffer out) {
      if (candidate.index().isEmpty()) {
        IndexListJson.appendAllDocs(out);
      } else {
        IndexListJson.appendOpen(candidate.index().get().definition(), out);
        out.octet('}');
      }
    }

    private void appendOptions(JsonBuffer out) {
      out.ascii(",\"opts\":{\"use_index\":");
      out.strings(request.useIndex());
      out.ascii(",\"bookmark\":").string(request.bookmark().orElse("nil"));
      out.ascii(",\"limit\":").number(request.limit());
      out.ascii(",\"skip\":").number(request.skip());
      String direction = request.sort().direction();
      out.ascii(",\"sort\":{")
          .each(request.sort().fields(), it -> out.string(it).octet(':').string(direction))
          .ascii("},\"fields\":");
      out.strings(request.fields());
      out.ascii(",\"partition\":").string(request.partition().map(Partition::name).orElse(""));
      out.ascii(",\"r\":").number(request.quorum());
      out.ascii(",\"conflicts\":").bool(request.conflicts());
      FindRequest.Options options = request.options();
      out.ascii(",\"stale\":").ascii(options.stale() ? "\"ok\"" : "false");
      out.ascii(",\"update\":").bool(options.update());
      out.ascii(",\"stable\":").bool(options.stable());
      out.ascii(",\"execution_stats\":").bool(options.stats());
      out.ascii(",\"allow_fallback\":").bool(options.mayFallBack()).octet('}');
    }

    private void appendCandidates(JsonBuffer out) {
      out.ascii(",\"index_candidates\":[")
          .each(
              plan.rejected().stream().sorted(LAST_NAME_FIRST).toList(),
              it -> appendRejected(it, out))
          .octet(']');
    }

    private void appendRejected(Rejected rejected, JsonBuffer out) {
      IndexCandidate candidate = rejected.candidate();
      append(candidate, out.ascii("{\"index\":"));
      out.ascii(",\"analysis\":{\"usable\":").bool(rejected.isUsable());
      out.ascii(",\"reasons\":[{\"name\":").string(rejected.reason());
      out.ascii("}],\"ranking\":").number(rejected.ranking());
      out.ascii(",\"covering\":");
      if (candidate.index().isEmpty()) {
        out.nil();
      } else {
        out.bool(!request.fields().isEmpty() && candidate.covers(request.fields()));
      }
      out.ascii("}}");
    }

    private void appendHints(JsonBuffer out) {
      TreeSet<String> rest = new TreeSet<>(request.normal().all());
      rest.removeAll(request.normal().indexable());
      out.ascii(",\"selector_hints\":[{\"type\":\"json\",\"indexable_fields\":");
      out.strings(List.copyOf(request.normal().indexable()));
      out.ascii(",\"unindexable_fields\":");
      out.strings(List.copyOf(rest));
      out.ascii("}]");
    }

    private void appendReading(IndexCandidate chosen, JsonBuffer out) {
      boolean isCovering = !request.fields().isEmpty() && chosen.covers(request.requiredFields());
      String low = plan.isEmpty() ? "null" : startKey(chosen);
      String high = plan.isEmpty() ? "null" : endKey(chosen);
      boolean descending = request.sort().descending();
      FindRequest.Options options = request.options();
      out.ascii(",\"mrargs\":{\"include_docs\":").bool(request.quorum() == 1 && !isCovering);
      out.ascii(",\"view_type\":\"map\",\"reduce\":false,\"partition\":");
      request.partition().ifPresentOrElse(it -> out.string(it.name()), out::nil);
      raw(out.ascii(",\"start_key\":"), descending ? high : low);
      raw(out.ascii(",\"end_key\":"), descending ? low : high);
      out.ascii(",\"direction\":").string(descending ? "rev" : "fwd");
      out.ascii(",\"stable\":").bool(options.stable() || options.stale());
      out.ascii(",\"update\":").bool(options.update() && !options.stale());
      out.ascii(",\"conflicts\":");
      if (request.conflicts()) {
        out.bool(true);
      } else {
        out.ascii("\"undefined\"");
      }
      out.ascii("},\"covering\":").bool(isCovering);
      appendExpected(chosen, out);
    }

    private static void raw(JsonBuffer out, String json) {
      out.raw(json.getBytes(StandardCharsets.UTF_8));
    }

    private String startKey(IndexCandidate chosen) {
      List<String> key = new ArrayList<>();
      for (ValueRange range : plan.prefix()) {
        if (range.low().isEmpty()) {
          break;
        }
        key.add(range.low().get().value().toJson());
      }
      if (chosen.index().isEmpty()) {
        return key.isEmpty() ? "null" : key.get(0);
      }
      return "[" + String.join(",", key) + "]";
    }

    private String endKey(IndexCandidate chosen) {
      List<String> key = new ArrayList<>();
      for (ValueRange range : plan.prefix()) {
        if (range.high().isEmpty()) {
          break;
        }
        // The last characters of both orders look alike to clients.
        key.add(range.high().get().value().toJson().replace("\udbff\udfff", "\uffff"));
      }
      if (chosen.index().isEmpty()) {
        return key.isEmpty() ? MAX : key.get(0);
      }
      key.add(MAX);
      return "[" + String.join(",", key) + "]";
    }

    private void appendExpected(IndexCandidate chosen, JsonBuffer out) {
      List<Range> ranges = plan.isEmpty() ? List.of() : new ReadRanges(db, request, chosen).all();
      int rows = 0;
      for (Range range : ranges) {
        if (rows < MAX_COUNTED) {
          rows +=
              Awaiting.await(
                      tx.getRange(range, MAX_COUNTED - rows, false, StreamingMode.WANT_ALL)
                          .asList())
                  .size();
        }
      }
      out.ascii(",\"expected\":{\"ranges\":").number(ranges.size());
      out.ascii(",\"rows\":").number(rows);
      out.ascii(",\"or_more\":").bool(rows == MAX_COUNTED);
      out.ascii(",\"building\":[")
          .each(
              plan.building(),
              it -> {
                IndexListJson.appendOpen(it.definition(), out);
                out.octet('}');
              })
          .ascii("]}");
    }
  }
}

package lectus.document.query;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import lectus.index.StoredIndex;
import lectus.json.FieldPath;
import lectus.json.JsonAssembler;
import lectus.json.JsonBuffer;
import lectus.json.LeafList;
import lectus.json.LeafView;
import lectus.selector.NormalSelector;
import lectus.tuple.TupleWriter;

/** Documents of which an index has all that a query needs: they are not read. */
final class CoveredRow {
  private static final String ID = "_id";

  private final List<byte[]> paths = new ArrayList<>();
  private final List<Integer> shown = new ArrayList<>();
  private final byte[] idPath = path(ID);
  private final boolean showsId;

  private CoveredRow(StoredIndex index, FindRequest request) {
    Set<String> fields = new TreeSet<>();
    request.fields().forEach(field -> fields.add(NormalSelector.field(field)));
    this.showsId = fields.contains(ID);
    List<String> columns = index.definition().fields();
    for (int i = 0; i < columns.size(); i++) {
      paths.add(path(columns.get(i)));
      if (fields.contains(columns.get(i)) && !columns.get(i).equals(ID)) {
        shown.add(i);
      }
    }
    shown.sort((a, b) -> Arrays.compareUnsigned(paths.get(a), paths.get(b)));
  }

  /** Returns empty if the query needs more than the index has. */
  static Optional<CoveredRow> of(FindRequest request, IndexCandidate candidate) {
    boolean isCovered =
        !request.fields().isEmpty()
            && request.quorum() == 1
            && !request.conflicts()
            && candidate.covers(request.requiredFields());
    return candidate.index().filter(it -> isCovered).map(it -> new CoveredRow(it, request));
  }

  /** Returns what tells whether documents match; empty if the selector needs more. */
  static Optional<CoveredRow> ofSelector(FindRequest request, IndexCandidate candidate) {
    boolean isCovered = candidate.covers(request.normal().all());
    return candidate.index().filter(it -> isCovered).map(it -> new CoveredRow(it, request));
  }

  private static byte[] path(String field) {
    return FieldPath.parse(field).prefixes().get(0);
  }

  LeafView view(FindRow row) {
    LeafList leaves = new LeafList(0);
    for (int i = 0; i < paths.size(); i++) {
      leaves.add(paths.get(i), row.values().get(i));
    }
    leaves.add(idPath, new TupleWriter(64).string(row.docId()).toBytes());
    return leaves.root();
  }

  void append(FindRow row, JsonBuffer out) {
    out.octet('{');
    if (showsId) {
      out.ascii("\"_id\":").string(row.docId());
    }
    JsonAssembler members = new JsonAssembler(out, showsId);
    shown.forEach(i -> members.leaf(paths.get(i), 0, row.values().get(i)));
    members.finish();
    out.octet('}');
  }
}

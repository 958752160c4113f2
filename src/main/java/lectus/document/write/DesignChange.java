package lectus.document.write;

import java.util.List;
import java.util.Optional;
import lectus.derived.IndexDefinition;

/**
 * What an edit of a design document changes beside the document.
 *
 * @param validation whether it now asks for validation; empty if that is unchanged
 * @param indexes which indexes it now describes; empty if they are unchanged
 */
record DesignChange(Optional<Boolean> validation, Optional<List<IndexDefinition>> indexes) {
  static final DesignChange NONE = new DesignChange(Optional.empty(), Optional.empty());
}

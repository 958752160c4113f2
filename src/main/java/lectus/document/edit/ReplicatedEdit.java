package lectus.document.edit;

import lectus.json.ExplodedBody;
import lectus.revision.RevisionPath;

/**
 * A revision that was made elsewhere ({@code new_edits=false}): it comes with its id and what is
 * known of its history.
 */
public record ReplicatedEdit(String id, RevisionPath path, boolean deleted, ExplodedBody body)
    implements Edit {}

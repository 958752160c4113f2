package lectus.document.edit;

import lectus.json.ExplodedBody;
import lectus.revision.RevisionPath;

/**
 * A revision that was made elsewhere ({@code new_edits=false}). It comes with its id and the known
 * part of its history.
 */
public record ReplicatedEdit(String id, RevisionPath path, boolean deleted, ExplodedBody body)
    implements Edit {}

package lectus.document.list;

import lectus.revision.RevisionId;

/** A stored local document, without its body. */
public record LocalRow(String id, RevisionId revision) {}

package lectus.document.local;

import lectus.revision.RevisionId;

/** A local document that is there, without its body. */
public record LocalRow(String id, RevisionId revision) {}

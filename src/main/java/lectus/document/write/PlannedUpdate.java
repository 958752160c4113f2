package lectus.document.write;

/** What is to be written for one document, all reads and checks behind it. */
public sealed interface PlannedUpdate permits DocumentUpdate, LocalUpdate {}

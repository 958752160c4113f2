package lectus.document.write;

/** The writes for one document, after all reads and checks. */
public sealed interface PlannedUpdate permits DocumentUpdate, LocalUpdate {}

package lectus.document.write;

/** What is to be written for one document, all reads and checks behind it. */
sealed interface PlannedUpdate permits DocumentUpdate, LocalUpdate {}

package lectus.jobs;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Consumer;

/**
 * A range of rows that are made of documents.
 *
 * @param decoder fails with {@link lectus.tuple.MalformedTupleException} for a row that cannot be
 *     read
 * @param wrong what a comparison finds wrong with a row; empty if nothing is
 */
public record KeptRows<C extends RowComparison>(
    Range range, Consumer<KeyValue> decoder, BiFunction<C, KeyValue, Optional<WrongRow>> wrong) {}

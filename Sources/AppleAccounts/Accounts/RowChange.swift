/// What a store has to do with one of its rows at the end of a batch.
public enum RowChange: Sendable, Hashable {
    case none, update, insert
}

/// A reader's cursor is past the end of the event feed. The database was set back, to a backup or to a standby that lagged
/// behind, or it is another one: what the reader has seen since then is not there any more, and numbers will come again.
public struct EventCursorAhead: Error, Sendable, Equatable {
    public init() {}
}

/// A place in a draft for another draft.
public protocol DraftPart<Whole>: Sendable {
    associatedtype Whole: Sendable
    associatedtype Part: SectionDraft

    func add(_ part: Part, to whole: inout Whole)
}

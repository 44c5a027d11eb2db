/// The place of a list of sections.
public struct DraftList<Whole: Sendable, Part: SectionDraft>: DraftPart {
    let path: any WritableKeyPath<Whole, [Part]> & Sendable

    public init(_ path: any WritableKeyPath<Whole, [Part]> & Sendable) {
        self.path = path
    }

    public func add(_ part: Part, to whole: inout Whole) { whole[keyPath: path].append(part) }
}

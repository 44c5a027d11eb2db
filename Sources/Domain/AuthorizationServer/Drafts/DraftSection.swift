/// The place of a section that the file has once.
public struct DraftSection<Whole: Sendable, Part: SectionDraft>: DraftPart {
    let path: any WritableKeyPath<Whole, Part> & Sendable

    public init(_ path: any WritableKeyPath<Whole, Part> & Sendable) {
        self.path = path
    }

    public func add(_ part: Part, to whole: inout Whole) { whole[keyPath: path] = part }
}

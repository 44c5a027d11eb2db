/// The UTF-8 of one string of a document.
enum JSONText {
    /// A part of the document, as it stands there.
    case part(Range<Int>)
    /// A decoded copy, because it has escapes.
    case decoded([UInt8])
}

/// The UTF-8 of one string of a document.
enum JSONText {
    /// A range of the document.
    case part(Range<Int>)
    /// A decoded copy, because the string has escapes.
    case decoded([UInt8])
}

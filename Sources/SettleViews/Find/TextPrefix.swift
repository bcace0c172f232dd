/// The sort positions of strings with a common prefix.
enum TextPrefix {
    /// The longest part of a prefix with which all strings are adjacent in collation order, up to the last character
    /// of all.
    ///
    /// That requires letters that sort independently of the following ones, as in ASCII and in the syllables and
    /// ideographs of Japanese, Chinese and Korean. In Thai a leading vowel is swapped with the next consonant, in
    /// Cyrillic some letters with an accent are separate letters, and an accent may be sorted before an earlier one.
    static func searchable(_ prefix: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in prefix.unicodeScalars {
            guard isIndependent(scalar) else { break }
            scalars.append(scalar)
        }
        return String(scalars)
    }

    private static func isIndependent(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x20..<0x7F, 0x3041...0x3096, 0x30A1...0x30FA, 0x4E00...0x9FFF, 0xAC00...0xD7A3: true
        default: false
        }
    }

    /// The first string, by bytes, after all with a prefix; `nil` if there is none.
    static func end(of prefix: String) -> String? {
        var scalars = Array(prefix.unicodeScalars)
        while let last = scalars.popLast() {
            guard last.value < 0x10FFFF else { continue }
            let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
            guard let scalar = Unicode.Scalar(next) else { continue }
            return String(String.UnicodeScalarView(scalars + [scalar]))
        }
        return nil
    }
}

package subjects

import "testing"

func BenchmarkEncodeChannel(b *testing.B) {
	for name, c := range map[string]Channel{"plain": "proc.trainer-7.stdout", "escaped": "proc.trainer 7..std\xffout"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				EncodeChannel(c)
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	s := Default()
	st := Stream{Node: "node-17", Life: aLife}
	b.Run("submit", func(b *testing.B) {
		subject := s.Submit(st.Node, "proc.trainer-7.stdout")
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := s.ParseSubmit(subject); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("frame", func(b *testing.B) {
		subject := s.Frame(st, "proc.trainer-7.stdout")
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := s.ParseFrame(subject); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkFrameSubject(b *testing.B) {
	s, st := Default(), Stream{Node: "node-17", Life: aLife}
	b.ReportAllocs()
	for b.Loop() {
		s.Frame(st, "proc.trainer-7.stdout")
	}
}

func BenchmarkPatternMatch(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Pattern("proc.*.stdout").Match("proc.trainer-7.stdout")
	}
}

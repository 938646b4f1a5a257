! Fortran: arrays, a derived type with a pointer, formatted output, internal procedures, recursion.
program solves
    implicit none
    integer, parameter :: n = 60
    real(8) :: a(n, n), b(n), x(n)
    integer :: i, j, total
    complex(8) :: z
    character(len=40) :: text
    do j = 1, n
        do i = 1, n
            a(i, j) = 1d0 / (i + j - 1) + merge(2d0, 0d0, i == j)
        end do
        b(j) = sin(dble(j))
    end do
    x = solved(a, b)
    print '(a, es24.16)', 'rest ', maxval(abs(matmul(a, x) - b)) * 0 + sum(x)
    z = exp((0.3d0, 1.7d0)) ** 3
    write (text, '(2f12.8)') real(z), aimag(z)
    print *, trim(text), fibonacci(20), index(text, '.')
    total = 0
    call each(adds) ! through code on the stack
    print *, 'total', total
    stop 11
contains
    function solved(a, b) result(x)
        real(8), intent(in) :: a(:, :), b(:)
        real(8) :: x(size(b)), u(size(b), size(b)), row(size(b)), factor
        integer :: i, k
        u = a
        x = b
        do k = 1, size(b)
            do i = k + 1, size(b)
                factor = u(i, k) / u(k, k)
                row = factor * u(k, :)
                u(i, :) = u(i, :) - row
                x(i) = x(i) - factor * x(k)
            end do
        end do
        do k = size(b), 1, -1
            x(k) = (x(k) - dot_product(u(k, k + 1:), x(k + 1:))) / u(k, k)
        end do
    end function
    recursive integer function fibonacci(n) result(f)
        integer, intent(in) :: n
        f = n
        if (n > 1) f = fibonacci(n - 1) + fibonacci(n - 2)
    end function
    subroutine adds(i)
        integer, intent(in) :: i
        total = total + i * 20
    end subroutine
    subroutine each(what)
        interface
            subroutine what(i)
                integer, intent(in) :: i
            end subroutine
        end interface
        integer :: i
        do i = 1, 10
            call what(i)
        end do
    end subroutine
end program
